/**
 * Programs of users, which have a stock kafka-clients of any version and know nothing of Millrace. The tests start them
 * with the agent.
 */
package dev.millrace.agent.programs;
