package dev.millrace.client.it.transactions;

import org.junit.jupiter.api.Tag;

/** Transactions with older clusters: the producer adds partitions and groups before it writes to them. */
@Tag("thorough")
class TransactionsVersion1IT extends TransactionsContract {
    TransactionsVersion1IT() {
        super(1);
    }
}
