import unittest


class TestLinear(unittest.TestCase):
    def check(self, name):
        self.assertTrue(name)
