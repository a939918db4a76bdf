import { EXIT } from '../../core/errors.ts'
import type { OutboxVerdict, RestorationReport } from '../../core/operate-outbox.ts'
import { askOperator } from '../ask-operator.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export async function showOutbox(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const report = await askOperator(ports, loaded, (operator) => operator.outbox.restoration())
  show(ports, options, { value: report ?? null, lines: () => linesOf(report) })
  return EXIT.ok
}

export async function decideOutbox(
  ports: ReadPorts,
  options: ReadOptions & { verdict: OutboxVerdict },
): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const report = await askOperator(ports, loaded, (operator) => operator.outbox.decide(options.verdict))
  show(ports, options, { value: report, lines: () => linesOf(report) })
  return EXIT.ok
}

/** Retries or drops one delivery. */
export async function decideDelivery(
  ports: ReadPorts,
  id: string,
  options: ReadOptions & { readonly verdict: 'retry' | 'drop' },
): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const report = await askOperator(ports, loaded, (operator) => operator.outbox[options.verdict](id))
  const { address, title = address, state, traceId } = report
  const line = `${report.id} to ${oneLine(title)} is ${state}; "parley why ${traceId}" shows what comes of it.`
  show(ports, options, { value: report, lines: () => [line] })
  return EXIT.ok
}

function linesOf(report: RestorationReport | undefined): string[] {
  if (!report) return ['Nothing is held: the database was never put back.']
  const { at, lastAt, state, held, unanswered } = report
  return [
    ...columns([
      ['put back', `found ${formatTime(at)}, written last ${lastAt > 0 ? formatTime(lastAt) : 'at an unknown time'}`],
      ['queue', state === 'held' || state === 'found' ? `${held} held: parley outbox resume, or discard` : state],
    ]),
    ...(unanswered.length === 0 ? [] : ['', 'Left unanswered']),
    ...columns(
      unanswered.map(({ inboxId, address, title = address, sentAt }) => [
        ...[`  ${inboxId}`, formatTime(sentAt), oneLine(title)],
      ]),
    ),
  ]
}
