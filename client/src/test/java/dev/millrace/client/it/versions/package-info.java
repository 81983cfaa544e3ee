/** Other versions of kafka-clients than the one that the client is compiled with; the long form is {@code client/versions}. */
package dev.millrace.client.it.versions;
