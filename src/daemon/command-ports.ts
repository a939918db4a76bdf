import type { Config } from '../config/config.ts'
import type { DoctorReport } from '../core/finding.ts'
import type { BundleReport, ImportOptions, ImportReport, OldFile } from '../core/import.ts'
import type { WriteExport } from '../core/operate-archives.ts'
import type { ConversionReport, ConvertOptions } from '../core/store-conversion.ts'
import type { ExamineRequest } from './examine.ts'
import type { createMcpOperator } from './make-mcp.ts'
import type { openOffline } from './offline.ts'

interface Loaded {
  readonly config: Config
}

/** The work that commands do without a daemon; the code of each is loaded when it is called. */
export interface CommandPorts {
  openOffline(loaded: Loaded): ReturnType<typeof openOffline>
  importSessions(loaded: Loaded, files: readonly OldFile[], options?: ImportOptions): Promise<ImportReport>
  importBundle(loaded: Loaded, path: string, dryRun: boolean): Promise<BundleReport>
  convertStore(loaded: Loaded, options: ConvertOptions): Promise<ConversionReport>
  examine(request: ExamineRequest): Promise<DoctorReport>
  mcp(): Promise<ReturnType<typeof createMcpOperator>>
  readonly writeExport: WriteExport
}

export function commandPorts(own: Parameters<typeof openOffline>[1]): CommandPorts {
  return {
    openOffline: async ({ config }) => (await import('./offline.ts')).openOffline(config, own),
    importSessions: async ({ config }, files, options) =>
      (await import('./import.ts')).importInto(config, files, options),
    importBundle: async ({ config }, path, dryRun) =>
      (await import('./import.ts')).importBundleInto(config, path, dryRun),
    convertStore: async ({ config }, options) =>
      (await import('./convert-store.ts')).convertConfigured(config, options),
    examine: async (request) =>
      (await import('./examine.ts')).examine(request, { version: own.version, plugins: own.lookups }),
    mcp: async () => (await import('./make-mcp.ts')).createMcpOperator(own.version),
    async *writeExport(format, archive) {
      yield* (await import('../sessions/export/write-export.ts')).writeExport(format, archive)
    },
  }
}
