/**
 * Child JVMs that never outlive this JVM: {@link dev.millrace.testkit.process.ChildJvm} for the test kit's own, {@link
 * dev.millrace.testkit.process.JavaProgram} for a program under test. {@link dev.millrace.testkit.process.CommandProcess}
 * is any command, {@link dev.millrace.testkit.process.ChildMaven} is Maven.
 *
 * <p><b>In:</b> the JDK and {@code /bin/sh}; no class of Kafka.
 *
 * <p><b>Out:</b> start, signals, output and end of a process, and where the classes of its class path are.
 */
package dev.millrace.testkit.process;
