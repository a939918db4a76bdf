/** A file that a client has sent, as a ledger keeps it: its bytes are there to be compared, and are never printed. */
export class UploadedFile {
  readonly name: string
  /** The type that the client says. */
  readonly type: string
  readonly bytes: Buffer

  constructor(name: string, type: string, bytes: Buffer) {
    this.name = name
    this.type = type
    this.bytes = bytes
  }

  get size(): number {
    return this.bytes.length
  }

  toJSON(): object {
    return { name: this.name, type: this.type, size: this.size }
  }
}

/** One part of a form: a text, or a file where its header names one. */
export interface FormPart {
  readonly name: string
  readonly content: Buffer
  readonly file?: { readonly name: string; readonly type: string }
}

const EMPTY_LINE = Buffer.from('\r\n\r\n')
const LINE = Buffer.from('\r\n')

/**
 * Reads a multipart form as RFC 7578 has it. Undefined for anything else: no boundary, an end that is missing, a part
 * without a name, a name given twice, a quote or a line break in a name.
 */
export function readForm(contentType: string, body: Buffer): readonly FormPart[] | undefined {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)?.slice(1).find(Boolean)
  if (boundary === undefined) return undefined
  const parts: FormPart[] = []
  const mark = Buffer.from(`--${boundary}`)
  let at = body.indexOf(mark)
  if (at !== 0 && !body.subarray(0, at).equals(LINE)) return undefined
  for (;;) {
    const begin = at + mark.length
    if (body.subarray(begin, begin + 2).toString('latin1') === '--') return parts
    const end = body.indexOf(Buffer.concat([LINE, mark]), begin)
    const part = end === -1 ? undefined : readPart(body.subarray(begin + LINE.length, end))
    if (part === undefined || parts.some(({ name }) => name === part.name)) return undefined
    parts.push(part)
    at = end + LINE.length
  }
}

function readPart(bytes: Buffer): FormPart | undefined {
  const split = bytes.indexOf(EMPTY_LINE)
  if (split === -1) return undefined
  const head = bytes.subarray(0, split).toString()
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(head)?.[1] ?? ''
  const fields = [...disposition.matchAll(/\s*(name|filename)="([^"\r\n]*)"(?:;|$)/gi)]
  if (fields.reduce((length, [found]) => length + found.length, 0) !== disposition.trimEnd().length) return undefined
  const read = (field: string): string | undefined => fields.find(([, key]) => key?.toLowerCase() === field)?.[2]
  const [name, filename] = [read('name'), read('filename')]
  if (name === undefined || name === '') return undefined
  const content = bytes.subarray(split + EMPTY_LINE.length)
  if (filename === undefined) return { name, content }
  const type = /^content-type:\s*(.*)$/im.exec(head)?.[1]?.trim() ?? 'application/octet-stream'
  return { name, content, file: { name: filename, type } }
}
