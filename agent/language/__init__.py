"""What is English: typed values, words and phrases, wording of replies."""
