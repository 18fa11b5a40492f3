// Suite `records` in GRDB: its records and associations, and GRDB with SQL.
//
// Invariant: the style is that of GRDB's documentation: Codable records, associations fetched with what they include, cached
// statements where SQL is written out. Foreign keys are off, as SQLite has them and as the other layers do.

#if GRDB
    import GRDB
    import Rootstock
    import RootstockGRDB

    extension RecordsSuite {
        private struct Owner: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "owner"
            var id: Int
            var name: String
            var age: Int
            var profile: String
        }

        private struct Publisher: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "publisher"
            static let owner = belongsTo(Owner.self, using: ForeignKey(["owner_id"], to: ["id"]))
            static let books = hasMany(Book.self, using: ForeignKey(["publisher_id"], to: ["id"])).forKey("books")
            var id: Int
            var name: String
            var owner: Int?

            enum CodingKeys: String, CodingKey {
                case id, name
                case owner = "owner_id"
            }
        }

        private struct Book: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "book"
            var id: Int
            var name: String
            var price: Double
            var publisher: Int

            enum CodingKeys: String, CodingKey {
                case id, name, price
                case publisher = "publisher_id"
            }
        }

        private struct Pair: Codable, FetchableRecord {
            var publisher: Publisher
            var owner: Owner
        }

        private struct Shelf: Codable, FetchableRecord {
            var publisher: Publisher
            var books: [Book]
        }

        private static func queue(_ layer: LayerSession) throws -> StoreQueue {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            return try StoreQueue(
                path: layer.path, engine: layer.engine, options: layer.options, configuration: configuration)
        }

        static func insertInGRDB(_ layer: LayerSession, _ meter: Meter, _ shape: Shape, usesSQL: Bool) throws {
            let queue = try queue(layer)
            let seed = layer.parameters.seed
            let samples = Samples(seed: seed)
            meter.begin()
            try queue.write { database in
                for index in 0..<layer.parameters.size {
                    let object = Object(index, seed: seed, samples)
                    if usesSQL {
                        try insertSQL(object, index, shape, database)
                    } else {
                        try insertRecords(object, index, shape, database)
                    }
                    meter.lap()
                }
            }
            meter.end()
            try queue.close()
        }

        private static func insertRecords(_ object: Object, _ index: Int, _ shape: Shape, _ database: Database) throws {
            if shape != .simple {
                try Owner(
                    id: index + 1, name: object.owner.name, age: object.owner.age, profile: object.owner.profile
                ).insert(database)
            }
            try Publisher(id: index + 1, name: object.name, owner: shape == .simple ? nil : index + 1).insert(
                database)
            guard shape == .many else { return }
            for (child, book) in object.books.enumerated() {
                try Book(
                    id: index * children + child + 1, name: book.name, price: book.price, publisher: index + 1
                ).insert(database)
            }
        }

        private static func insertSQL(_ object: Object, _ index: Int, _ shape: Shape, _ database: Database) throws {
            if shape != .simple {
                try database.cachedStatement(sql: "INSERT INTO owner VALUES (?, ?, ?, ?)").execute(
                    arguments: [index + 1, object.owner.name, object.owner.age, object.owner.profile])
            }
            try database.cachedStatement(sql: "INSERT INTO publisher VALUES (?, ?, ?)").execute(
                arguments: [index + 1, object.name, shape == .simple ? nil : index + 1])
            guard shape == .many else { return }
            for (child, book) in object.books.enumerated() {
                try database.cachedStatement(sql: "INSERT INTO book VALUES (?, ?, ?, ?)").execute(
                    arguments: [index * children + child + 1, book.name, book.price, index + 1])
            }
        }

        static func readInGRDB(_ layer: LayerSession, _ meter: Meter, _ shape: Shape, _ sql: String, usesSQL: Bool)
            throws
        {
            let queue = try queue(layer)
            meter.begin()
            let count = try queue.read { database in
                usesSQL ? try readSQL(database, shape, sql, layer) : try readRecords(database, shape, layer)
            }
            meter.end()
            layer.answers.add(UInt64(count))
            try queue.close()
        }

        private static func readRecords(_ database: Database, _ shape: Shape, _ layer: LayerSession) throws -> Int {
            let request = Publisher.order(Column("id"))
            switch shape {
            case .simple:
                let all = try request.fetchAll(database)
                for item in all { layer.take([.integer(item.id), .text(item.name), .integer(item.owner ?? 0)]) }
                return all.count
            case .pair:
                let all = try request.including(required: Publisher.owner).asRequest(of: Pair.self).fetchAll(database)
                for item in all {
                    let owner = item.owner
                    layer.take([
                        .integer(item.publisher.id), .text(item.publisher.name), .integer(owner.id), .text(owner.name),
                        .integer(owner.age), .text(owner.profile),
                    ])
                }
                return all.count
            case .many:
                let all = try request.including(all: Publisher.books.order(Column("id"))).asRequest(of: Shelf.self)
                    .fetchAll(database)
                for item in all {
                    for book in item.books {
                        layer.take([
                            .integer(item.publisher.id), .text(item.publisher.name), .integer(book.id),
                            .text(book.name),
                            .real(book.price),
                        ])
                    }
                }
                return all.count
            }
        }

        private static func readSQL(_ database: Database, _ shape: Shape, _ sql: String, _ layer: LayerSession) throws
            -> Int
        {
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            var last = 0
            var count = 0
            while let row = try rows.next() {
                let (id, name): (Int, String) = (row[0], row[1])
                switch shape {
                case .simple: layer.take([.integer(id), .text(name), .integer(row[2])])
                case .pair:
                    layer.take([
                        .integer(id), .text(name), .integer(row[2]), .text(row[3]), .integer(row[4]), .text(row[5]),
                    ])
                case .many: layer.take([.integer(id), .text(name), .integer(row[2]), .text(row[3]), .real(row[4])])
                }
                if id != last {
                    last = id
                    count += 1
                }
            }
            return count
        }
    }
#endif
