import unittest


class TestOptim(unittest.TestCase):
    def check(self, name):
        self.assertTrue(name)
