"""The mathematics: every primitive with its value, its shape and its local linear map."""
