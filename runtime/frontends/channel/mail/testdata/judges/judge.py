# Says of mails, one in base64 a line, whether Python's email takes the part that holds the word
# "Zebra" for an attachment: "attached", "shown", or "" where it finds no such part.
import base64, email, email.policy, sys

def look(raw, policy):
    found = ""
    for part in email.message_from_bytes(raw, policy=policy).walk():
        attached = part.get_content_disposition() == "attachment"
        if part.is_multipart():
            if attached and b"Zebra" in raw:
                return "attached"
            continue
        try:
            data = part.get_payload(decode=True) or b""
        except Exception:
            continue
        if b"Zebra" in data:
            if attached or part.get_content_maintype() != "text":
                return "attached"
            found = "shown"
    return found

for line in sys.stdin:
    raw = base64.b64decode(line)
    said = set()
    for policy in (email.policy.compat32, email.policy.default):
        try:
            said.add(look(raw, policy))
        except Exception:
            pass
    print("attached" if "attached" in said else "shown" if "shown" in said else "")
