/**
 * The jars of MirrorMaker 1 and 2, of Kafka Connect and of Kafka's tools, and configurations, for tests that replace a MirrorMaker and for
 * programs that measure one.
 *
 * <p><b>In:</b> Maven, and the poms among the resources. Nothing else of the test kit.
 *
 * <p><b>Out:</b> a class path, and files of configuration.
 */
package dev.millrace.testkit.mirrormaker;
