import { EXIT, ParleyError } from '../../core/errors.ts'
import { countWords, heldWords, receiptWords, whoseWords } from '../../core/forget-words.ts'
import type { ForgetReceipt } from '../../core/forgetting.ts'
import type { ForgetRequest, RetentionReport } from '../../core/operate-forgetting.ts'
import { askOperator } from '../ask-operator.ts'
import { byTitle } from '../named-session.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { count } from '../print/status.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface ForgetOptions extends ReadOptions {
  readonly kind: ForgetRequest['kind']
  readonly name: string
  readonly since?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
}

/**
 * Has something forgotten. Without `--yes` it is listed and nothing is removed: a success if that was asked for
 * (`--dry-run`), else a failure, as it is for every command that waits for `--yes`.
 */
export async function forgetNamed(ports: ReadPorts, options: ForgetOptions): Promise<number> {
  const { kind, name, since, yes = false, dryRun = false } = options
  if (yes && dryRun) throw new ParleyError('invalid', '--yes and --dry-run exclude each other')
  const loaded = await ports.load(options.config, 'ask')
  const request = { kind, confirmed: yes, ...(since === undefined ? {} : { since }) }
  const receipt = await askOperator(ports, loaded, ({ forgetting, sessions }) => {
    const forget = (one: string) => forgetting.forget({ ...request, name: one })
    return kind === 'chat' ? byTitle(sessions, name, forget, 'conversation') : forget(name)
  })
  show(ports, options, {
    value: receipt,
    lines: () => [...whose(receipt), ...(yes ? receiptWords(receipt, true) : preview(receipt))].map(oneLine),
  })
  const waits = !yes && !dryRun && countWords(receipt.counts).length > 0
  return waits ? EXIT.failed : EXIT.ok
}

function whose({ whose }: ForgetReceipt): readonly string[] {
  return whose === undefined ? [] : [whoseWords(whose)]
}

function preview(receipt: ForgetReceipt): readonly string[] {
  const found = countWords(receipt.counts)
  if (found.length === 0) return ['There is nothing to forget of that.']
  // Commands are in no conversation.
  const { sessions } = receipt.counts
  return [
    `${sessions === 0 ? 'There is' : `In ${count(sessions, 'conversation')}`}: ${found.join(', ')}, and what was made of them.`,
    ...heldWords(receipt, true),
    'Nothing was removed; --yes does it, and it cannot be undone.',
  ]
}

export interface RetentionOptions extends ReadOptions {
  readonly verb: 'list' | 'run'
}

export async function retention(ports: ReadPorts, { verb, ...options }: RetentionOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const limits = await askOperator(ports, loaded, ({ forgetting }) =>
    verb === 'run' ? forgetting.runRetention() : forgetting.retention(),
  )
  show(ports, options, {
    value: limits,
    lines(style) {
      if (limits.length === 0) return ['No limit is set: conversations are kept (retention in the configuration).']
      const head = ['LIMIT', 'DAYS', 'CONVERSATIONS', 'OLDER NOW', 'REMOVES SINCE']
      const [header = '', ...rows] = columns([head, ...limits.map(row)])
      return [style.bold(header), ...rows]
    },
  })
  return EXIT.ok
}

function row({ rule, days, sessions, events, startsAt }: RetentionReport): string[] {
  const since = startsAt === undefined ? 'not reported yet' : formatTime(startsAt)
  return [rule, String(days), String(sessions), String(events), since].map(oneLine)
}
