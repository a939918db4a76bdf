/**
 * Named points of the message path at which a test build can kill the process. The bundler replaces
 * `__FAILPOINTS__` by `false` in what users run, so that nothing of this is left there.
 */
declare const __FAILPOINTS__: boolean | undefined

export type Failpoint =
  | 'CP1-received'
  | 'CP2-committed'
  | 'CP3-acked'
  | 'CP4-claimed'
  | 'CP5-mid-stream'
  | 'CP6-model-answer-uncommitted'
  | 'CP7-tool-intent'
  | 'CP8-tool-running'
  | 'CP9-tool-done-uncommitted'
  | 'CP10-outbox-planned'
  | 'CP11-sending-committed'
  | 'CP12-bytes-written'
  | 'CP13-response-read'
  | 'CP14-between-chunks'
  | 'CP15-slot-claimed'
  | 'CP16-summary-uncommitted'
  | 'CP17-approval-asked'
  | 'CP18-approval-decided'
  | 'CP19-ids-linked'
  | 'CP20-exchange-taken-back'
  | 'CP21-question-asked'
  | 'CP22-question-answered'
  | 'CP23-question-told'
  | 'CP24-move-uncommitted'
  | 'CP25-move-committed'
  | 'CP26-checkpoint-owed'
  | 'CP27-checkpoint-uncommitted'
  | 'CP28-checkpoint-committed'
  | 'CP29-files-fetched'
  | 'CP30-files-recorded'
  | 'CP31-file-uploaded'
  | 'CP32-transcript-kept'
  | 'CP33-cost-held'
  | 'CP34-cost-settled'
  | 'CP35-store-copied'
  | 'CP36-store-linked'
  | 'CP37-store-swapped'
  | 'CP38-file-converted'
  | 'CP39-store-converted'
  | 'CP40-forget-uncommitted'
  | 'CP41-forget-begun'
  | 'CP42-forget-emptied'
  | 'CP43-forget-scrubbed'
  | 'CP46-retention-emptied'
  | 'CP47-command-unanswered'
  | 'CP48-keyed-request-carried-out'
  | 'CP49-keyed-request-begun'
  | 'CP50-call-noted'
  | 'CP51-retry-committed'
  | 'CP52-budget-notice-planned'
  | 'CP53-backup-snapshot'
  | 'CP54-backup-written'
  | 'CP55-backup-renamed'
  | 'CP56-backup-file'
  | 'CP57-restore-staged'
  | 'CP58-restore-begun'
  | 'CP59-restore-aside'
  | 'CP60-restore-moved'
  | 'CP61-restore-done'

let reached: ((point: Failpoint) => void) | undefined

/** Marks a point; does nothing unless a test build armed it. */
export function failpoint(point: Failpoint): void {
  if (typeof __FAILPOINTS__ === 'undefined' || __FAILPOINTS__) reached?.(point)
}

/** Called once by a test build's entry. */
export function armFailpoints(onReach: (point: Failpoint) => void): void {
  reached = onReach
}
