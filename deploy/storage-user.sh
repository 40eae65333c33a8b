#!/bin/sh
# Makes the access key of the service in the S3 gateway. It owns the bucket of the service and nothing else; the root key stays with
# the gateway. May run again at any time, and then sets the secret anew.
set -eu

versitygw admin create-user --access "$S3_ACCESS_KEY_ID" --secret "$S3_SECRET_ACCESS_KEY" --role user ||
  versitygw admin update-user --access "$S3_ACCESS_KEY_ID" --secret "$S3_SECRET_ACCESS_KEY"
versitygw admin create-bucket --bucket "$S3_BUCKET" --owner "$S3_ACCESS_KEY_ID" ||
  versitygw admin change-bucket-owner --bucket "$S3_BUCKET" --owner "$S3_ACCESS_KEY_ID"
