/**
 * Where the records of the source are at the target. <i>Internal.</i>
 *
 * <p>Here is what is known of one partition, and the form in which it is kept. What talks to clusters or belongs to a
 * member stays outside.
 */
package dev.millrace.mirror.offsets;
