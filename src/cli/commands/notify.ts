import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EXIT, errorCode, ParleyError, toError } from '../../core/errors.ts'
import type { NewNotification, NotificationReport } from '../../core/operate-outbox.ts'
import { askOperator } from '../ask-operator.ts'
import { placeNamed } from '../named-session.ts'
import type { CliPorts } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface NotifyOptions extends ReadOptions {
  /** Undefined with `--file` alone. */
  readonly text: string | undefined
  readonly silent?: boolean
  readonly file?: readonly string[]
  readonly id?: string
  /** The wait in seconds. */
  readonly wait: number
}

const MB = 1024 * 1024
/** Bytes of all files together: as much as one request may bring. */
const MOST_BYTES = 14 * MB
/** The exit codes. 75 says that nobody has to send it again. */
const CODES = { delivered: EXIT.ok, queued: EXIT.locked, refused: EXIT.failed, lost: EXIT.failed } as const
const NO_DAEMON = 'No daemon is running: it stands in the queue of the store.\n'

/** Says a text in a chat. Resolves with 0 once it is there, 75 if it is queued, 1 if it was refused. */
export async function notify(
  ports: ReadPorts & Pick<CliPorts, 'cwd'>,
  to: string,
  options: NotifyOptions,
): Promise<number> {
  const { text, silent, wait: waitSeconds, id = randomUUID() } = options
  const files = await filesOf(options.file ?? [], ports.cwd)
  const wanted = { to, waitSeconds, id, ...(text === undefined ? {} : { text }), ...(silent ? { silent } : {}) }
  const report = await sayOnce(ports, options, files.length === 0 ? wanted : { ...wanted, files })
  show(ports, options, { value: report, lines: () => [lineOf(report)] })
  return CODES[report.status]
}

/** A daemon that starts or ends just now has the store and no socket, or goes away before it answers. */
const AGAIN = { ms: 500, times: 20 }

/** Asks until somebody answers: its id makes it one notification, whoever has taken it first. */
async function sayOnce(ports: ReadPorts, options: ReadOptions, wanted: NewNotification): Promise<NotificationReport> {
  const loaded = await ports.load(options.config, 'ask')
  for (let left = AGAIN.times; ; left--) {
    try {
      return await askOperator(
        ports,
        loaded,
        async ({ sessions, notifications }) =>
          notifications.send({ ...wanted, to: await placeNamed(sessions, wanted.to) }),
        NO_DAEMON,
      )
    } catch (err) {
      const passing = ['store_locked', 'unavailable'].includes(errorCode(err))
      if (!passing) throw err
      if (left <= 0) throw new ParleyError('unavailable', `Nobody took it: ${toError(err).message}`, { cause: err })
    }
    await sleep(AGAIN.ms)
  }
}

async function filesOf(paths: readonly string[], cwd: string): Promise<NonNullable<NewNotification['files']>> {
  let bytes = 0
  const read = async (path: string) => {
    const found = resolve(cwd, path)
    const { size } = await stat(found).catch((err) => Promise.reject(unread(path, err)))
    bytes += size
    if (bytes > MOST_BYTES)
      throw new ParleyError('too_long', `All files together have ${MOST_BYTES / MB} MB at most; ${path} is too much.`)
    const data = await readFile(found, 'base64').catch((err) => Promise.reject(unread(path, err)))
    return { name: basename(path), data }
  }
  const files: { readonly name: string; readonly data: string }[] = []
  for (const path of paths) files.push(await read(path))
  return files
}

function unread(path: string, err: unknown): ParleyError {
  return new ParleyError('invalid', `${path} cannot be read: ${toError(err).message}`)
}

function lineOf({ status, to, traceId, reason }: NotificationReport): string {
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`
  switch (status) {
    case 'delivered':
      return `Said in ${to} (${traceId}).`
    case 'queued':
      return `Queued for ${to}; it leaves by itself (${traceId})${why}.`
    case 'refused':
      return `Not said in ${to}${why} (${traceId}).`
    case 'lost':
      return `Nobody can know whether it arrived in ${to}${why} (${traceId}).`
  }
}
