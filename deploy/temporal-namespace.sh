#!/bin/sh
# Makes the namespace of the service. Answers to TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and RETENTION: how long the history of a
# finished post can be read.
set -eu

attempts=30
until temporal operator cluster health; do
  attempts=$((attempts - 1))
  if [ "$attempts" -eq 0 ]; then
    echo "Temporal does not answer at $TEMPORAL_ADDRESS" >&2
    exit 1
  fi
  sleep 2
done

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" > /dev/null 2>&1; then
  temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
else
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
fi
