import type { OperationAnswers } from '../client/operations.ts'
import { admission, admissions } from '../http/schemas/admissions.ts'
import { approval, approvals } from '../http/schemas/approvals.ts'
import { archivedFile, archivePage, exportRecorded, relocation } from '../http/schemas/archives.ts'
import { listedModel, modelList } from '../http/schemas/completions.ts'
import { reload } from '../http/schemas/config.ts'
import { receipt, retention } from '../http/schemas/forgetting.ts'
import { memories, memory } from '../http/schemas/memory.ts'
import { restoration, restorations } from '../http/schemas/outbox.ts'
import { agents, budgets, channels, deliveries, delivery, toolServers } from '../http/schemas/parts.ts'
import { linkedId, people } from '../http/schemas/people.ts'
import { schedule, schedules, slots, startedRun } from '../http/schemas/schedules.ts'
import {
  cancelAnswer,
  checkpointOutcome,
  createdSession,
  history,
  posted,
  session,
  sessionDeleted,
  sessions,
} from '../http/schemas/sessions.ts'
import { record, type Shape, text, texts, unknown } from '../http/schemas/shape.ts'
import { health, status } from '../http/schemas/status.ts'
import { newToken, tokenRevoked, tokens } from '../http/schemas/tokens.ts'
import { why } from '../http/schemas/why.ts'

/** Code made for a schema costs 3 ms more than it saves where a value is read once: measured with `parley status`. */
const ONCE = { jitless: true }

/** Returns true for an answer of a daemon to that operation: nothing else is shown to people. */
export function isAnswer(operation: string, value: unknown): boolean {
  return Object.hasOwn(SHAPES, operation) && SHAPES[operation as keyof OperationAnswers].safeParse(value, ONCE).success
}

const SHAPES: { readonly [Name in keyof OperationAnswers]: Shape<OperationAnswers[Name]> } = {
  'health.show': health,
  'status.show': status,
  'document.load': record(unknown),
  'message.why': why,
  'message.unseen': texts,
  'session.list': sessions,
  'session.start': session,
  'session.create': createdSession,
  'session.load': session,
  'session.patch': session,
  'session.rename': session,
  'session.delete': sessionDeleted,
  'session.history': history,
  'session.setHistory': session,
  'session.append': posted,
  'session.cancel': cancelAnswer,
  'session.checkpoint': checkpointOutcome,
  'session.export': text,
  'session.move': relocation,
  'session.fork': relocation,
  'node.post': posted,
  'agent.prompt': posted,
  'archive.page': archivePage,
  'archive.file': archivedFile,
  'archive.exported': exportRecorded,
  'archive.relocate': relocation,
  'model.list': modelList,
  'model.load': listedModel,
  'token.list': tokens,
  'token.create': newToken,
  'token.revoke': tokenRevoked,
  'schedule.list': schedules,
  'schedule.next': slots,
  'schedule.run': startedRun,
  'schedule.pause': schedule,
  'schedule.resume': schedule,
  'schedule.remove': schedule,
  'person.list': people,
  'person.link': linkedId,
  'person.unlink': linkedId,
  'admission.list': admissions,
  'admission.admit': admission,
  'admission.deny': admission,
  'approval.list': approvals,
  'approval.approve': approval,
  'approval.deny': approval,
  'channel.list': channels,
  'agent.list': agents,
  'mcp.list': toolServers,
  'budget.list': budgets,
  'delivery.list': deliveries,
  'delivery.retry': delivery,
  'delivery.drop': delivery,
  'outbox.restoration': restorations,
  'outbox.resume': restoration,
  'outbox.discard': restoration,
  'memory.list': memories,
  'memory.show': memory,
  'memory.remove': memory,
  'forgetting.forget': receipt,
  'retention.list': retention,
  'retention.run': retention,
  'config.reload': reload,
}
