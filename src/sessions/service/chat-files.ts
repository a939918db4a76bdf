import { sizeInWords } from '../../core/content-words.ts'
import type { BeforeSave } from '../../core/hook.ts'
import type { FileLimits, ReadArrived } from '../../core/media.ts'
import type { AttachmentRef, FileReading } from '../../core/message.ts'
import type { CompletionFile } from '../../core/operate-chat.ts'

export interface ChatFilePorts {
  readonly limits: FileLimits
  readonly allowance: {
    mayFetch(person: string): boolean
    fetched(person: string, bytes: number): void
  }
  readonly read: ReadArrived
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
  /** Returns the text that is stored of what was read (R8); absent: all of it. */
  readonly beforeSave?: (this: void, text: BeforeSave) => Promise<string>
}

/** The sender of the files, and their conversation. */
export interface FilesFrom {
  readonly person: string
  readonly conversation: string
  readonly signal: AbortSignal
}

/**
 * Returns the files of each message as a turn would have read them, with the same limits as those that come from a
 * platform. Of too many the newest are read: clients send the whole conversation each time.
 */
export async function readChatFiles(
  ports: ChatFilePorts,
  messages: readonly (readonly CompletionFile[])[],
  from: FilesFrom,
): Promise<readonly (readonly AttachmentRef[])[]> {
  let left = ports.limits.maxFilesPerPrompt
  const read: (readonly AttachmentRef[])[] = []
  for (const files of messages.toReversed()) {
    const attached: AttachmentRef[] = []
    for (const [index, file] of files.toReversed().entries()) {
      const reading =
        left-- > 0
          ? await readOne(ports, file, from)
          : { unread: `no more than ${ports.limits.maxFilesPerPrompt} files are read at a time` }
      attached.push(attachment(file, reading, `${read.length}/${index}`))
    }
    read.push(attached.reverse())
  }
  return read.reverse()
}

async function readOne(
  ports: ChatFilePorts,
  { bytes, name = '' }: CompletionFile,
  from: FilesFrom,
): Promise<FileReading> {
  const { limits, allowance } = ports
  const { person, conversation, signal } = from
  if (bytes.length > limits.maxBytes) return { unread: `larger than ${sizeInWords(limits.maxBytes)}` }
  if (!allowance.mayFetch(person)) return { unread: `its sender has sent ${sizeInWords(limits.perPersonPerDay)} today` }
  allowance.fetched(person, bytes.length)
  const reading = await ports.read({ bytes, name, kind: undefined }, limits.maxCharacters, signal)
  if (reading.text === undefined) return reading
  const text = ports.redact(reading.text)
  const asked = { on: 'before_save', conversation, sender: { id: person }, edit: false, of: 'file', text } as const
  return { ...reading, text: text === '' ? text : ((await ports.beforeSave?.(asked)) ?? text) }
}

function attachment({ bytes, name }: CompletionFile, reading: FileReading, place: string): AttachmentRef {
  const { media } = reading
  return {
    ref: media?.media ?? `unread:${place}`,
    size: bytes.length,
    ...(media === undefined ? {} : { mime: media.mime }),
    ...(media?.type === 'image' ? { kind: 'photo' as const } : {}),
    ...(name === undefined ? {} : { fileName: name }),
    ...reading,
  }
}
