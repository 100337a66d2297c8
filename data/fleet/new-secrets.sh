#!/bin/sh
# Makes the passwords of compose.yaml's services in secrets/ beside this file, or in the folder that is named. Where that
# is there already, nothing is changed.
set -eu
folder=${1:-$(dirname "$0")/secrets}
if [ -d "$folder" ]; then exit 0; fi

# 24 random bytes as hexadecimal digits, which mean the same in an address, in JSON and in redis.conf.
random() { od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# Each container has a user of its own, so all may read the files; the folder keeps the others of this machine out.
umask 022
rm -rf "$folder.tmp"
mkdir -m 700 "$folder.tmp"
cd "$folder.tmp"

password=$(random)
echo "$password" > postgres_password
echo "postgres://offerline:$password@postgres:5432/offerline" > postgres_address

password=$(random)
echo "requirepass $password" > redis_conf
echo "redis://:$password@redis:6379/0" > redis_address

key_id=$(random)
secret_key=$(random)
echo "$key_id" > storage_key_id
echo "$secret_key" > storage_secret_key
cat > storage_identities << END
{
  "identities": [
    {
      "name": "offerline",
      "credentials": [{ "accessKey": "$key_id", "secretKey": "$secret_key" }],
      "actions": ["Admin", "Read", "List", "Tagging", "Write"]
    }
  ]
}
END

cd - > /dev/null
mv "$folder.tmp" "$folder"
