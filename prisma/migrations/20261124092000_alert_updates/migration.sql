-- A further date of an alert was sent a day later.
COMMENT ON COLUMN conciliation.alert_delivery.delivered_message IS
  'The condition in the words of that message. An alert whose words have changed is sent again after an hour, or after a day where the words change with every attempt.';
