#!/usr/bin/env bash
# The script of action.yml: compare two runs, write the summary of the job, end with the status of
# the comparison: 0 passed, 1 not passed (a loss of more than the margin is not excluded), 2 bad input,
# 3 passed but for problems that were left out.
set -uo pipefail

options=()
[ -n "${SCORER:-}" ] && options+=(--scorer "$SCORER")
[ -n "${DATASET:-}" ] && options+=(--dataset "$DATASET")
report=$(mktemp --suffix=.md)
trap 'rm -f "$report"' EXIT
comparison=(gradeschool compare "$NEW" --not-worse-than "$OLD" --margin "$MARGIN" "${options[@]}")

# Succeeds where a run that missed the threshold has an interval that lies below 0 as a whole.
is_worse() {
  local found
  found=$("${comparison[@]}" --json 2> /dev/null)
  printf '%s' "$found" | python3 -c '
import json, sys
found = json.load(sys.stdin)
pairs = zip(found["comparisons"], found["thresholds"])
sys.exit(not any(each["ci95"][1] < 0 and not threshold["met"] for each, threshold in pairs))
' 2> /dev/null
}

text=$("${comparison[@]}" 2>&1)
code=$?
case $code in
  0)
    status=passed
    reason="The 95 % interval of the difference excludes a loss of more than the margin ($MARGIN)."
    ;;
  1)
    status="not shown"
    reason="The 95 % interval of the difference neither excludes a loss of more than the margin ($MARGIN) nor shows a loss."
    if is_worse; then
      status=worse
      reason="The whole 95 % interval of the difference lies below 0."
    fi
    ;;
  3)
    status=incomplete
    reason="The 95 % interval of the difference excludes a loss of more than the margin ($MARGIN), without the problems of which one run has no completion."
    ;;
  *)
    status=error
    reason="The runs could not be compared."
    ;;
esac

{
  echo "### gradeschool: $status"
  echo
  if gradeschool report "$OLD" "$NEW" "${options[@]}" --force -o "$report" > /dev/null 2>&1; then
    cat "$report"
    echo
  fi
  echo "$reason"
  echo
  echo '````text'
  printf '%s\n' "$text"
  echo '````'
} >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
echo "status=$status" >> "${GITHUB_OUTPUT:-/dev/null}"
printf '%s\n' "$text"
exit "$code"
