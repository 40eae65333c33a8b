#!/bin/sh
# Makes Temporal's two databases and their tables where they are missing, then brings them up to this version of Temporal.
# The connection comes from SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

for schema in temporal visibility; do
  database=temporal
  if [ "$schema" = visibility ]; then database=temporal_visibility; fi
  # Both say nothing when there is nothing to do.
  temporal-sql-tool --db "$database" create
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  temporal-sql-tool --db "$database" update-schema -d "/etc/temporal/schema/postgresql/v12/$schema/versioned"
done
