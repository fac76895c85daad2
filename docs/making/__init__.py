"""What in the documents is made by a program: the pictures of the README, the recorded session, the outputs of notebooks."""
