"""What users call: functions that take a function and give its derivative."""
