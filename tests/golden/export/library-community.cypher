// The ontology library 2.1.0-rc.1+b41c557f, for Neo4j Community.
// A node has the labels of its type and of all that it is.

// Identified
CREATE CONSTRAINT `unique.Identified.shelf_mark` IF NOT EXISTS FOR (n:`Identified`) REQUIRE n.`shelf_mark` IS UNIQUE;
CREATE INDEX `index.Identified.name` IF NOT EXISTS FOR (n:`Identified`) ON (n.`name`);

// Priced
CREATE INDEX `index.Priced.name` IF NOT EXISTS FOR (n:`Priced`) ON (n.`name`);

// Work
CREATE INDEX `index.Work.name` IF NOT EXISTS FOR (n:`Work`) ON (n.`name`);

// Book
CREATE CONSTRAINT `unique.Book.isbn` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`isbn` IS UNIQUE;
CREATE CONSTRAINT `unique.Book.publisher+edition` IF NOT EXISTS FOR (n:`Book`) REQUIRE (n.`publisher`, n.`edition`) IS UNIQUE;
CREATE INDEX `index.Book.name` IF NOT EXISTS FOR (n:`Book`) ON (n.`name`);

// Film
CREATE INDEX `index.Film.name` IF NOT EXISTS FOR (n:`Film`) ON (n.`name`);

// Scroll
CREATE INDEX `index.Scroll.name` IF NOT EXISTS FOR (n:`Scroll`) ON (n.`name`);

// Reader
CREATE CONSTRAINT `unique.Reader.card` IF NOT EXISTS FOR (n:`Reader`) REQUIRE n.`card` IS UNIQUE;
CREATE INDEX `index.Reader.name` IF NOT EXISTS FOR (n:`Reader`) ON (n.`name`);
