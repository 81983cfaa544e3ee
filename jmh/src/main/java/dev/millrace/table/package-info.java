/** Tables of text. */
package dev.millrace.table;
