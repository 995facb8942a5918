"""What lies over a screen and asks or tells something."""
