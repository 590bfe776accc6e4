#!/usr/bin/env python3
"""What .make/c_folders.py refuses: each test breaks a copy of the sources in one place."""

import doctest
import os
import shutil
import tempfile
import unittest

import c_folders

BUILT = shutil.ignore_patterns("*.o", "*.bc")
CHECKOUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class FoldersTest(unittest.TestCase):
    def setUp(self):
        self.copy = tempfile.mkdtemp(prefix="kakehashi-folders-")
        self.addCleanup(shutil.rmtree, self.copy)
        for folder in (c_folders.SOURCES, c_folders.PUBLIC):
            shutil.copytree(os.path.join(CHECKOUT, folder), os.path.join(self.copy, folder), ignore=BUILT)

    def write(self, path, text):
        with open(os.path.join(self.copy, c_folders.SOURCES, path), "a", encoding="utf-8") as file:
            file.write(text)

    def assert_refused(self, *expected):
        errors = c_folders.check(self.copy)
        self.assertEqual(len(expected), len(errors), errors)
        for error, part in zip(errors, expected):
            self.assertIn(part, error)

    def test_accepts_the_sources(self):
        self.assert_refused()

    def test_refuses_a_call_of_a_higher_folder(self):
        self.write("fdw/base/option.c", "\nstatic void\nwrong(void)\n{\n\tkakehashi_begin_scan(NULL, 0);\n}\n")
        self.assert_refused("fdw/base/option.c: uses kakehashi_begin_scan of fdw/scan/scan.c")

    def test_refuses_a_variable_of_a_higher_folder(self):
        self.write("fdw/row/result.c", "\nstatic const void *wrong = &kakehashi_lookup_methods;\n")
        self.assert_refused("fdw/row/result.c: uses kakehashi_lookup_methods of fdw/lookup/lookup.c")

    def test_refuses_an_include_of_a_higher_folder(self):
        self.write("fdw/session/snapshot.c", '\n#include "fdw/modify/modify.h"\n')
        self.assert_refused("fdw/session/snapshot.c: includes fdw/modify/modify.h")

    def test_refuses_a_call_of_the_wrapper_by_the_client(self):
        self.write("ipc/wire.c", "\nextern void kakehashi_snapshot_settle(const void *owner);\nvoid\nkh_wrong(void)\n{\n\tkakehashi_snapshot_settle(0);\n}\n")
        self.assert_refused("ipc/wire.c: uses kakehashi_snapshot_settle")

    def test_refuses_headers_of_postgresql_in_the_client(self):
        self.write("ipc/wire.c", '\n#include "postgres.h"\n')
        self.assert_refused('ipc/wire.c: includes "postgres.h"')

    def test_refuses_a_circle_of_three_files_in_one_folder(self):
        for this, other in (("a", "b"), ("b", "c"), ("c", "a")):
            self.write(f"fdw/row/{this}.c", f"void\nkakehashi_{this}(void)\n{{\n\tkakehashi_{other}();\n}}\n")
        self.assert_refused("3 files need each other: fdw/row/a.c fdw/row/b.c fdw/row/c.c")

    def test_accepts_what_is_named_in_comments_and_texts(self):
        self.write("fdw/base/option.c", '\n/* kakehashi_begin_scan() */\nstatic const char *text = "kakehashi_begin_scan";\n')
        self.assert_refused()

    def test_refuses_a_folder_with_more_than_40_files(self):
        for number in range(c_folders.MOST_FILES + 1):
            self.write(f"fdw/plan/extra_{number}.c", "")
        self.assert_refused("fdw/plan: has")

    def test_refuses_two_files_of_one_name(self):
        self.write("fdw/base/wire.c", "")
        self.assert_refused("ipc/wire.c: has the name of fdw-extension/src/fdw/base/wire.c")

    def test_refuses_a_folder_without_a_place(self):
        os.mkdir(os.path.join(self.copy, c_folders.SOURCES, "fdw/misc"))
        self.write("fdw/misc/misc.c", "")
        self.assert_refused("fdw/misc: has no place")


def load_tests(_loader, tests, _ignore):
    tests.addTests(doctest.DocTestSuite(c_folders))
    return tests


if __name__ == "__main__":
    unittest.main()
