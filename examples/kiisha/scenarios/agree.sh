# Omar looks at what waits for him, and agrees.
for id in $(verbatim confirm --as omar | cut -f 1); do verbatim confirm "$id" --agree --as omar; done
