import type { Config } from '../config/config.ts'
import type { Surroundings } from '../config/places.ts'
import type { DoctorReport, DoctorRequest } from '../core/finding.ts'
import type { BundleReport, ImportOptions, ImportReport, OldFile } from '../core/import.ts'
import type { DataPlaces, OwnData, StoreSchema } from '../core/machine.ts'
import type { WriteExport } from '../core/operate-archives.ts'
import type { ConversionReport, ConvertOptions } from '../core/store-conversion.ts'
import type { SupportReport, SupportRequest } from '../core/support.ts'
import type { createBackupOperator } from './backups.ts'
import type { createMcpOperator } from './make-mcp.ts'
import type { openOffline } from './offline.ts'
import type { createSetupPorts } from './setup-ports.ts'

interface Loaded {
  readonly config: Config
}

/** The work that commands do without a daemon; the code of each is loaded when it is called. */
export interface CommandPorts {
  openOffline(loaded: Loaded): ReturnType<typeof openOffline>
  importSessions(loaded: Loaded, files: readonly OldFile[], options?: ImportOptions): Promise<ImportReport>
  importBundle(loaded: Loaded, path: string, dryRun: boolean): Promise<BundleReport>
  convertStore(loaded: Loaded, options: ConvertOptions): Promise<ConversionReport>
  examine(request: DoctorRequest<Config>): Promise<DoctorReport>
  storeSchema(loaded: Loaded): Promise<StoreSchema | undefined>
  ownData(places: DataPlaces, loaded?: Loaded): Promise<OwnData>
  removeData(places: DataPlaces, loaded?: Loaded): Promise<void>
  mcp(): Promise<ReturnType<typeof createMcpOperator>>
  support(request: SupportRequest<Config>): Promise<SupportReport>
  setup(): ReturnType<typeof createSetupPorts>
  backups(): Promise<ReturnType<typeof createBackupOperator>>
  readonly writeExport: WriteExport
}

interface Own {
  readonly version: string
  readonly plugins: Parameters<typeof createSetupPorts>[0]
  readonly around: Surroundings
}

export function commandPorts({ version, plugins, around }: Own): CommandPorts {
  const own = { version, lookups: plugins }
  return {
    openOffline: async ({ config }) => (await import('./offline.ts')).openOffline(config, own),
    importSessions: async ({ config }, files, options) =>
      (await import('./import.ts')).importInto(config, files, options),
    importBundle: async ({ config }, path, dryRun) =>
      (await import('./import.ts')).importBundleInto(config, path, dryRun),
    convertStore: async ({ config }, options) =>
      (await import('./convert-store.ts')).convertConfigured(config, options),
    examine: async (request) => (await import('./examine.ts')).examine(request, { version: own.version, plugins }),
    storeSchema: async ({ config }) => (await import('./convert-store.ts')).schemaOf(config),
    ownData: async (places, loaded) =>
      (await import('./own-data.ts')).findOwnData(places, loaded?.config.store ?? { path: places.path }),
    async removeData(places, loaded) {
      const { removeOwnData } = await import('./own-data.ts')
      removeOwnData(places, loaded?.config.store ?? { path: places.path })
    },
    mcp: async () => (await import('./make-mcp.ts')).createMcpOperator(own.version),
    support: async (request) =>
      (await import('./support-report.ts')).supportReport(request, { version, catalogue: plugins, ...around }),
    setup: async () => (await import('./setup-ports.ts')).createSetupPorts(plugins, around),
    backups: async () => (await import('./backups.ts')).createBackupOperator(version),
    async *writeExport(format, archive) {
      yield* (await import('../sessions/export/write-export.ts')).writeExport(format, archive)
    },
  }
}
