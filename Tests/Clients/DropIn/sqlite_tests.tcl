# Runs one file of SQLite's TCL tests, command by command: it goes on behind a command that fails.
# Usage: tclsh sqlite_tests.tcl FIXTURE FILE
lassign $argv fixture_module fixture_file
package require sqlite3
load $fixture_module Fixture

# testfixture's own asks the file behind main, which a store has not.
proc atomic_batch_write {path} { return 0 }
# SQLite's locks at 64 KB instead of 1 GB: a page of the images of the schema that a store makes, too.
proc sqlite3_test_control_pending_byte {offset} {}
# Looks into SQLite's statement, of which a program that uses a store has no pointer.
proc uses_stmt_journal {statement} { error "asks what no function of SQLite tells" }

set argv --testdir=
set argv0 $fixture_file
info script $fixture_file
set fixture_channel [open $fixture_file]
set fixture_command {}
set fixture_line 0
while {[gets $fixture_channel fixture_text] >= 0} {
    incr fixture_line
    append fixture_command $fixture_text\n
    if {![info complete $fixture_command] || [string index $fixture_text end] eq "\\"} continue
    set fixture_code [catch {uplevel #0 $fixture_command} fixture_message]
    if {$fixture_code == 1} { puts "\nfixture: up to line $fixture_line: $fixture_message" }
    if {$fixture_code == 2} break
    set fixture_command {}
}
finish_test
