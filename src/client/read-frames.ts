/** One event of a stream, as it was sent. */
export interface Frame {
  /** `message` where the stream gives it no name. */
  readonly event: string
  readonly id?: string
  readonly data: string
}

/** Splits a stream of server-sent events. `heard` is called with each piece, a comment too. */
export async function* readFrames(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
    heard()
    rest = (rest + decoder.decode(piece, { stream: true })).replaceAll('\r\n', '\n')
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const frame = frameOf(block)
      if (frame !== undefined) yield frame
    }
  }
}

function frameOf(block: string): Frame | undefined {
  const fields = new Map<string, string[]>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    fields.set(name, [...(fields.get(name) ?? []), value])
  }
  const data = fields.get('data')
  if (data === undefined) return undefined
  const id = fields.get('id')?.at(-1)
  return { event: fields.get('event')?.at(-1) ?? 'message', data: data.join('\n'), ...(id === undefined ? {} : { id }) }
}
