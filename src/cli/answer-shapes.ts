import type { OperationAnswers } from '../client/operations.ts'
import type { Shape } from '../http/schemas/shape.ts'

/** Code made for a schema costs 3 ms more than it saves where a value is read once: measured with `parley status`. */
const ONCE = { jitless: true }

/** Returns true for an answer of a daemon to that operation: nothing else is shown to people. */
export async function isAnswer(operation: string, value: unknown): Promise<boolean> {
  if (!Object.hasOwn(SHAPES, operation)) return false
  return (await SHAPES[operation as keyof OperationAnswers]()).safeParse(value, ONCE).success
}

/** Each is loaded when something has answered: all of them cost as much as the rest of a command. */
const admissions = () => import('../http/schemas/admissions.ts')
const approvals = () => import('../http/schemas/approvals.ts')
const archives = () => import('../http/schemas/archives.ts')
const completions = () => import('../http/schemas/completions.ts')
const config = () => import('../http/schemas/config.ts')
const document = () => import('../http/schemas/document.ts')
const forgetting = () => import('../http/schemas/forgetting.ts')
const memory = () => import('../http/schemas/memory.ts')
const outbox = () => import('../http/schemas/outbox.ts')
const parts = () => import('../http/schemas/parts.ts')
const people = () => import('../http/schemas/people.ts')
const schedules = () => import('../http/schemas/schedules.ts')
const sessions = () => import('../http/schemas/sessions.ts')
const shape = () => import('../http/schemas/shape.ts')
const status = () => import('../http/schemas/status.ts')
const tokens = () => import('../http/schemas/tokens.ts')
const why = () => import('../http/schemas/why.ts')

const SHAPES: { readonly [Name in keyof OperationAnswers]: () => Promise<Shape<OperationAnswers[Name]>> } = {
  'health.show': async () => (await status()).health,
  'status.show': async () => (await status()).status,
  'document.load': async () => (await document()).document,
  'message.why': async () => (await why()).why,
  'message.unseen': async () => (await shape()).texts,
  'session.list': async () => (await sessions()).sessions,
  'session.start': async () => (await sessions()).session,
  'session.create': async () => (await sessions()).createdSession,
  'session.load': async () => (await sessions()).session,
  'session.patch': async () => (await sessions()).session,
  'session.rename': async () => (await sessions()).session,
  'session.delete': async () => (await sessions()).sessionDeleted,
  'session.history': async () => (await sessions()).history,
  'session.setHistory': async () => (await sessions()).session,
  'session.append': async () => (await sessions()).posted,
  'session.cancel': async () => (await sessions()).cancelAnswer,
  'session.checkpoint': async () => (await sessions()).checkpointOutcome,
  'session.export': async () => (await shape()).text,
  'session.move': async () => (await archives()).relocation,
  'session.fork': async () => (await archives()).relocation,
  'node.post': async () => (await sessions()).posted,
  'agent.prompt': async () => (await sessions()).posted,
  'archive.page': async () => (await archives()).archivePage,
  'archive.file': async () => (await archives()).archivedFile,
  'archive.exported': async () => (await archives()).exportRecorded,
  'archive.relocate': async () => (await archives()).relocation,
  'model.list': async () => (await completions()).modelList,
  'model.load': async () => (await completions()).listedModel,
  'token.list': async () => (await tokens()).tokens,
  'token.create': async () => (await tokens()).newToken,
  'token.revoke': async () => (await tokens()).tokenRevoked,
  'schedule.add': async () => (await schedules()).schedule,
  'notification.send': async () => (await outbox()).notification,
  'schedule.list': async () => (await schedules()).schedules,
  'schedule.next': async () => (await schedules()).slots,
  'schedule.run': async () => (await schedules()).startedRun,
  'schedule.pause': async () => (await schedules()).schedule,
  'schedule.resume': async () => (await schedules()).schedule,
  'schedule.remove': async () => (await schedules()).schedule,
  'person.list': async () => (await people()).people,
  'person.link': async () => (await people()).linkedId,
  'person.unlink': async () => (await people()).linkedId,
  'admission.list': async () => (await admissions()).admissions,
  'admission.admit': async () => (await admissions()).admission,
  'admission.deny': async () => (await admissions()).admission,
  'approval.list': async () => (await approvals()).approvals,
  'approval.approve': async () => (await approvals()).approval,
  'approval.deny': async () => (await approvals()).approval,
  'channel.list': async () => (await parts()).channels,
  'agent.list': async () => (await parts()).agents,
  'mcp.list': async () => (await parts()).toolServers,
  'budget.list': async () => (await parts()).budgets,
  'delivery.list': async () => (await parts()).deliveries,
  'delivery.retry': async () => (await parts()).delivery,
  'delivery.drop': async () => (await parts()).delivery,
  'outbox.restoration': async () => (await outbox()).restorations,
  'outbox.resume': async () => (await outbox()).restoration,
  'outbox.discard': async () => (await outbox()).restoration,
  'memory.list': async () => (await memory()).memories,
  'memory.show': async () => (await memory()).memory,
  'memory.remove': async () => (await memory()).memory,
  'forgetting.forget': async () => (await forgetting()).receipt,
  'retention.list': async () => (await forgetting()).retention,
  'retention.run': async () => (await forgetting()).retention,
  'config.reload': async () => (await config()).reload,
}
