"""Check the verdicts of a page, and the rates and shares that are counted from them."""

import json
import re
from pathlib import Path

import pytest

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.formats.samples import ReadOptions
