-- The few changes that need several statements.

-- name: begin
-- A process that stands still in the middle holds locks that others wait for: the server ends it. The setting is the
-- transaction's own, so that no pooler hands it on.
begin isolation level read committed; set local idle_in_transaction_session_timeout = '2s'
