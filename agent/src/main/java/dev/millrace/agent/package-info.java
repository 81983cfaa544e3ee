/**
 * The Java agent: the classes that the system class loader finds in its jar. They start it, and load all its other classes
 * from the folder {@code META-INF/millrace} of the jar.
 *
 * <p>The agent does not replace {@code KafkaProducer} by a class of its own; it adds a field to it, a question to its
 * constructor, and a branch to each public method ({@code KafkaProducerRewriter}). So all that programs, frameworks and
 * other agents look for in the class is there in each version, and an instance that Millrace does not serve is the stock
 * producer, unchanged.
 */
package dev.millrace.agent;
