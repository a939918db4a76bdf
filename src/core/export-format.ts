export const EXPORT_FORMATS = ['workflow', 'jsonl', 'markdown'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number] | 'bundle'

export interface ExportRecord {
  readonly format: ExportFormat
  /** The file; absent in a log that came from another machine. */
  readonly path?: string
}
