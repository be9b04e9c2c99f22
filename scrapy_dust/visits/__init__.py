"""The log as mining sees it: visits, the pages made of them, and samples of these pages."""
