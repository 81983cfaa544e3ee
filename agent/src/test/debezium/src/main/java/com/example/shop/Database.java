package com.example.shop;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A PostgreSQL server with a table of orders, which it changes once somebody reads its log. Runs until it is stopped. */
public class Database {
    public static void main(String[] args) throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.builder()
                        .setServerConfig("wal_level", "logical") // so that the log can be read as changes of rows
                        .start();
                Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id INT PRIMARY KEY, item TEXT NOT NULL)");
            insert(statement, 1, 1_000);
            System.out.println("port " + server.getPort());
            while (!isRead(statement)) {
                Thread.sleep(100);
            }
            insert(statement, 1_001, 2_000);
            statement.execute("UPDATE orders SET item = 'changed ' || item WHERE id % 10 = 0");
            statement.execute("DELETE FROM orders WHERE id % 100 = 7");
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    private static void insert(Statement statement, int first, int last) throws SQLException {
        statement.execute(
                "INSERT INTO orders SELECT id, 'item ' || id FROM generate_series(%d, %d) id".formatted(first, last));
    }

    private static boolean isRead(Statement statement) throws SQLException {
        try (ResultSet slots = statement.executeQuery("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")) {
            return slots.next();
        }
    }
}
