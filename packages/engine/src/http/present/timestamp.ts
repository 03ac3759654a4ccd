export * from '../../domain/timestamp.ts'
