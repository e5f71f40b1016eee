"""Documents as the user gives them -> normalised texts -> arrays of character ids."""
