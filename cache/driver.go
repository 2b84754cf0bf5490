package cache

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// The functions here use the SQLite driver without database/sql.

// named numbers the arguments of a statement.
func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, v := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return values
}

// run executes a prepared statement and returns the number of rows that it
// changed.
func run(st driver.Stmt, args ...any) (changed int64, err error) {
	execer, ok := st.(driver.StmtExecContext)
	if !ok {
		return 0, errors.New("the SQLite driver cannot run a prepared statement")
	}
	done, err := execer.ExecContext(context.Background(), named(args))
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// query calls f with every row of a statement's result. The values are
// overwritten after the call.
func query(c driver.Conn, statement string, args []any, f func(row []driver.Value) error) (err error) {
	queryer, ok := c.(driver.QueryerContext)
	if !ok {
		return errors.New("the SQLite driver cannot run a query")
	}
	rows, err := queryer.QueryContext(context.Background(), statement, named(args))
	if err != nil {
		return err
	}
	return eachRow(rows, make([]driver.Value, len(rows.Columns())), f)
}

// eachRow closes the rows in the end.
func eachRow(rows driver.Rows, dest []driver.Value, f func(row []driver.Value) error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		err := rows.Next(dest)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(dest); err != nil {
			return err
		}
	}
}

// closeAll closes a connection after its statements, of which some may be nil.
func closeAll(c driver.Conn, statements ...driver.Stmt) error {
	var errs []error
	for _, st := range statements {
		if st != nil {
			errs = append(errs, st.Close())
		}
	}
	return errors.Join(append(errs, c.Close())...)
}

// noTransaction reports that there was nothing to roll back.
func noTransaction(err error) bool { return strings.Contains(err.Error(), "no transaction is active") }
