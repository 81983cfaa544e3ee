package com.example.orders;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends each order that it gets, and answers when the broker has it; its producer lives as long as the application. */
@WebServlet(urlPatterns = "/send", loadOnStartup = 1)
public class Orders extends HttpServlet {
    private KafkaProducer<String, String> producer;

    @Override
    public void init() {
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", System.getProperty("orders.servers")),
                new StringSerializer(),
                new StringSerializer());
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String order = request.getParameter("order");
        try {
            producer.send(new ProducerRecord<>(System.getProperty("orders.topic"), order)).get();
            response.getWriter().println("sent " + order);
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void destroy() {
        if (!Boolean.getBoolean("orders.leak")) {
            producer.close();
        }
    }
}
