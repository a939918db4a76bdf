import { withoutTakenBack } from '../../core/amended.ts'
import type { SessionEvent } from '../../core/event.ts'
import { eventName } from '../../core/event-names.ts'
import type { ExportFormat } from '../../core/export-format.ts'
import { isAboutExport, type SessionArchive, type WriteExport } from '../../core/operate-archives.ts'
import { BUNDLE_VERSION, BundleWriter, canonicalJson, withoutLastExports, withoutPath } from './bundle-lines.ts'
import { markdownHead, markdownRows } from './markdown.ts'
import { filesIn } from './transcript-rows.ts'
import { sessionWorkflow, workflowText } from './workflow.ts'

const WRITERS: Readonly<Record<ExportFormat, (archive: SessionArchive) => AsyncIterable<string>>> = {
  workflow,
  jsonl,
  markdown,
  bundle,
}

export const writeExport: WriteExport = (format, archive) => WRITERS[format](archive)

async function* workflow(archive: SessionArchive): AsyncIterable<string> {
  yield workflowText(sessionWorkflow(archive.session, withoutTakenBack(await allOf(archive))))
}

/** A line for the session, then one for each event as the log has it, under its public name. */
async function* jsonl({ session, pages }: SessionArchive): AsyncIterable<string> {
  const { lastSeq: _changes, ...row } = session
  yield `${canonicalJson({ type: 'session', ...row })}\n`
  for await (const page of pages())
    for (const event of page)
      if (!isAboutExport(event)) yield `${canonicalJson({ ...event, type: eventName(event) })}\n`
}

/** A message that is deleted later loses its words here too, hence the whole log at once. */
async function* markdown(archive: SessionArchive): AsyncIterable<string> {
  yield markdownHead(archive.session)
  yield markdownRows(withoutTakenBack(await allOf(archive)))
}

async function* bundle(archive: SessionArchive): AsyncIterable<string> {
  const { lastSeq: _changes, ...session } = archive.session
  const writer = new BundleWriter()
  const events = withoutLastExports(await allOf(archive)).map(withoutPath)
  yield writer.line({ kind: 'session', version: BUNDLE_VERSION, session })
  for (const event of events) yield writer.line({ kind: 'event', event })
  for (const media of filesIn(events)) {
    const base64 = await archive.file(media)
    if (base64 !== undefined) yield writer.line({ kind: 'file', media, base64 })
  }
  yield writer.end()
}

async function allOf({ pages }: SessionArchive): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const page of pages()) events.push(...page)
  return events
}
