#!/usr/bin/env bash
# The script of action.yml: compare two runs, write the summary of the job, end with the status of
# the comparison: 0 passed, 1 worse by more than the margin, 2 bad input.
set -uo pipefail

options=()
[ -n "${SCORER:-}" ] && options+=(--scorer "$SCORER")
[ -n "${DATASET:-}" ] && options+=(--dataset "$DATASET")
report=$(mktemp --suffix=.md)
trap 'rm -f "$report"' EXIT

text=$(gradeschool compare "$NEW" --not-worse-than "$OLD" --margin "$MARGIN" "${options[@]}" 2>&1)
code=$?
case $code in
  0) status=passed ;;
  1) status=worse ;;
  *) status=error ;;
esac

{
  echo "### gradeschool: $status"
  echo
  if gradeschool report "$OLD" "$NEW" "${options[@]}" --force -o "$report" > /dev/null 2>&1; then
    cat "$report"
    echo
  fi
  echo '````text'
  printf '%s\n' "$text"
  echo '````'
} >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
echo "status=$status" >> "${GITHUB_OUTPUT:-/dev/null}"
printf '%s\n' "$text"
exit "$code"
