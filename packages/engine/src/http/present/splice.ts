export * from '../../domain/splice.ts'
