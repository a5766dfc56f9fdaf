import unittest


class TestHooks(unittest.TestCase):
    def check(self, name):
        self.assertTrue(name)
