// Says of mails, one in base64 a line, whether postal-mime and mailparser take the part that holds
// the word "Zebra" for an attachment: "attached", "shown", or "" where they find no such part.
import { createRequire } from 'node:module'
import readline from 'node:readline'

const from = createRequire(process.argv[2] + '/')
const { simpleParser } = from('mailparser')
const PostalMime = from('postal-mime')
const Reader = PostalMime.default ?? PostalMime
const has = (what) => what != null && Buffer.from(what).includes('Zebra')

for await (const line of readline.createInterface({ input: process.stdin })) {
  const raw = Buffer.from(line, 'base64')
  const said = []
  for (const parse of [() => Reader.parse(raw), () => simpleParser(raw)]) {
    try {
      const mail = await parse()
      if (mail.attachments.some((a) => has(a.content))) said.push('attached')
      else if (has(mail.text) || has(mail.html || '')) said.push('shown')
      else said.push('')
    } catch { said.push('') }
  }
  console.log(JSON.stringify(said))
}
