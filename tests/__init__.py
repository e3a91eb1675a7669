"""Tests of gradeschool."""
