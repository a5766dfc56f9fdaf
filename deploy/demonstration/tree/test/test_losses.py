import unittest


class TestLosses(unittest.TestCase):
    def check(self, name):
        self.assertTrue(name)
