import type { MediaId } from '../core/ids.ts'
import { text } from './rows.ts'
import type { TranscriptReader, TranscriptWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

export class TranscriptReading implements TranscriptReader {
  protected readonly sql: Sql

  constructor({ sql }: Pick<RepositoryDeps, 'sql'>) {
    this.sql = sql
  }

  async of(media: MediaId): Promise<string | undefined> {
    const row = await this.sql.get('SELECT said FROM transcripts WHERE media_id = $1', [media])
    return row && text(row, 'said')
  }
}

export class TranscriptWriting extends TranscriptReading implements TranscriptWriter {
  async add(media: MediaId, said: string, at: number): Promise<void> {
    const query = 'INSERT INTO transcripts (media_id, said, heard_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
    await this.sql.run(query, [media, said, at])
  }

  sweep(before: number): Promise<number> {
    const query = `DELETE FROM transcripts WHERE heard_at < $1
      AND NOT EXISTS (SELECT 1 FROM media_uses WHERE media_uses.media_id = transcripts.media_id)`
    return this.sql.run(query, [before])
  }
}
